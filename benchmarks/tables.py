"""Plain tables for a terminal."""


def table(header: list[str], rows: list[list[str]]) -> str:
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    lines = []
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 100 else f"{value:.0f}"


def megabytes(value: float | None) -> str:
    return "-" if value is None else f"{value / 1e6:.0f}" if value >= 1e7 else f"{value / 1e6:.1f}"


def times(value: float | None) -> str:
    """A ratio: 1.85x."""
    return "-" if value is None else f"{value:.2f}x" if value < 100 else f"{value:.0f}x"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
