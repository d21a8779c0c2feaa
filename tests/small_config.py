"""A config whose run takes a second or less; `steps` is to be filled in, and more of [train] may follow."""

SMALL = """name = "sweep"
[task]
kind = "copy"
validation = 32
[task.copy]
length = 4
[model]
width = 16
heads = 2
layers = 1
[train]
steps = {steps}
batch = 8
"""
