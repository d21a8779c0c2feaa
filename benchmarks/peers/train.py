"""Runs of a sweep in PyTorch, one after the other: trains, evaluates on the whole validation split, saves.

    train.py TEXT FOLDER LAYERS WIDTH HEADS BLOCK BATCH STEPS SEED ...
"""

import json
import pathlib
import sys

import torch

import nanogpt


def main(words: list[str]):
    torch.set_num_threads(1)
    folder = pathlib.Path(words[1])
    layers, width, heads, block, batch, steps = map(int, words[2:8])
    text = nanogpt.Text(words[0], block)
    for seed in map(int, words[8:]):
        torch.manual_seed(seed)
        trainer = nanogpt.TextTrainer(text, layers, width, heads, batch, steps, compiled=False)
        with open(folder / f"{seed}.jsonl", "w") as metrics:
            for step in range(1, steps + 1):
                loss = trainer.step()
                if step % 10 == 0:
                    print(json.dumps({"step": step, "train_loss": loss.item()}), file=metrics)
            print(json.dumps({"step": steps, "val_loss": trainer.validation_loss()}), file=metrics)
        torch.save({"model": trainer.model.state_dict(), "optimizer": trainer.optimizer.state_dict()},
                   folder / f"{seed}.pt")


if __name__ == "__main__":
    main(sys.argv[1:])
