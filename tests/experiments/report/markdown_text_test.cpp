// Tests that users' texts appear literally in Markdown.
#include "experiments/report/markdown.hpp"
#include "experiments/report/text_table.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("marks of Markdown in texts are shown", "[report]") {
  CHECK(markdown_text("s*0.5*abs(i-j)") == "s\\*0.5\\*abs(i-j)");
  CHECK(markdown_text("i<heads or j>i-3 | `x`") == "i\\<heads or j\\>i-3 \\| \\`x\\`");
  CHECK(markdown_text("![a](b) [c]: <d>") == "!\\[a\\](b) \\[c\\]: \\<d\\>");
  CHECK(markdown_text("<img src=x onerror=y> &lt; $z$ ~~w~~") ==
        "\\<img src=x onerror=y\\> \\&lt; \\$z\\$ \\~\\~w\\~\\~");
  CHECK(markdown_text("[ ] a") == "\\[ \\] a");
  CHECK(markdown_text("a[^1] b[[c]]") == "a\\[^1\\] b\\[\\[c\\]\\]");
  CHECK(markdown_text("costs 0.307 [0.270, 0.340], 6 -> 10") == "costs 0.307 [0.270, 0.340], 6 -> 10");
  CHECK(markdown_text("> a") == "\\> a");
  CHECK(markdown_text("val_loss _so_ \\") == "val_loss \\_so\\_ \\\\");
  CHECK(markdown_text("two\nlines\x1b[1m\r") == "two lines\\\\x1b[1m\\\\x0d");
}

TEST_CASE("nothing begins a list, a heading or code where a text begins", "[report]") {
  CHECK(markdown_text("# a") == "\\# a");
  CHECK(markdown_text("- a") == "\\- a");
  CHECK(markdown_text("+ a") == "\\+ a");
  CHECK(markdown_text("---") == "\\---");
  CHECK(markdown_text("==") == "\\==");
  CHECK(markdown_text("12. a") == "12\\. a");
  CHECK(markdown_text("12) a") == "12\\) a");
  CHECK(markdown_text("    a ") == "a");
  CHECK(markdown_text("-0.5, 1.5") == "-0.5, 1.5");
  CHECK(markdown_text("- 0", true) == "- 0");
}

TEST_CASE("addresses become no links", "[report]") {
  CHECK(markdown_text("https://a.b http://c") == "https\\://a.b http\\://c");
  CHECK(markdown_text("www.a.b WWW.c") == "www\\.a.b WWW\\.c");
  CHECK(markdown_text("me@a.b") == "me@<!-- -->a.b");
}

TEST_CASE("code holds backquotes and, in cells, bars", "[report]") {
  CHECK(markdown_code("a | b") == "`a | b`");
  CHECK(markdown_code("a | b", true) == "`a \\| b`");
  CHECK(markdown_code("a `` b") == "```a `` b```");
  CHECK(markdown_code("`a`") == "`` `a` ``");
  CHECK(markdown_code("a \\| b", true) == "a \\\\\\| b");
  CHECK(markdown_code("a\nb") == "`a b`");
  CHECK(markdown_block("x\n```\n<b>", "toml") == "````toml\nx\n```\n<b>\n````\n");
}

TEST_CASE("cells keep to themselves", "[report]") {
  const TextTable table{{"a|b", "n"}, {Align::left, Align::right}, {{"x | *y*\n", "-"}}};
  CHECK(to_markdown(table) == "| a\\|b | n |\n| --- | ---: |\n| x \\| \\*y\\* | - |\n");
  CHECK(to_text({{"a"}, {Align::left}, {{"x\ny"}}}) == "  a\n  x y\n");
}
