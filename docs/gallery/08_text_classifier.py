"""A text classifier, in embedding space and word by word
======================================================

A small Transformer sorts requests to a voice assistant into ten domains: banking, travel, cooking and so on. How much must the
requests change before it breaks? There are two ways to say *change*. Inside the model a word is a vector, and vectors can move
by any distance; the model's gradients lead the way. Outside, a word is a word, and changing a sentence means another word.

This page asks both questions of the same model and the same sentences. Each answer has a unit of its own, so the two numbers
cannot be compared, and the page says what each of them is good for.
"""

# %%
# The requests
# ------------
# They are CLINC150, real where the file is on the machine: 15,000 requests to train on. Where it is not, the script makes up
# sentences of the same form, and says so. Then the numbers below mean nothing beyond how to read them.
import os
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

import tippingpoint as tp

torch.set_num_threads(1)  # products this small only wait for each other


def made_up(sentences=6000):
    """The same columns, from a random number generator: every domain has words of its own."""
    rng = np.random.default_rng(0)
    lines = []
    for i in range(sentences):
        own = rng.random(rng.integers(4, 12)) < 0.4
        words = [f"d{i % 10}w{rng.integers(30)}" if o else f"w{rng.integers(300)}" for o in own]
        lines.append(("test" if i % 7 == 0 else "train", f"domain {i % 10}", " ".join(words)))
    return pd.DataFrame(lines, columns=["split", "domain", "text"])


folder = Path(os.environ.get("TIPPINGPOINT_DATA", "../../../shared/data"))
file = folder / "text" / "clinc150.csv.gz"
if file.exists():
    requests = pd.read_csv(file).query("domain != 'oos'")
    print("Real requests.")
else:
    requests = made_up()
    print(f"MADE-UP requests: text/{file.name} is not here. TIPPINGPOINT_DATA names its folder.")
train, test = (requests[requests["split"] == split] for split in ("train", "test"))
domains = sorted(requests["domain"].unique())
print(train[["domain", "text"]].sample(4, random_state=1).to_string(index=False))

# %%
# The classifier
# --------------
# One layer of attention over word vectors. What matters here is how it is called: with *embeddings* and a mask that is 0 where
# a sentence is shorter than the longest. Classifiers of Hugging Face take the same two under the same names.
counts = Counter(word for text in train["text"] for word in text.split())
vocabulary = ["[padding]", "[unknown]", *(word for word, count in counts.items() if count > 1)]
number = {word: i for i, word in enumerate(vocabulary)}
LONGEST, WIDTH, HEADS = 14, 48, 4


def ids(sentences):
    found = torch.zeros(len(sentences), LONGEST, dtype=torch.long)
    for i, words in enumerate(sentences):
        known = [number.get(word, 1) for word in words[:LONGEST]]
        found[i, : len(known)] = torch.tensor(known)
    return found


class Transformer(nn.Module):
    """Attention, one layer, the mean over the words, and a logit for each domain."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary), WIDTH)
        nn.init.normal_(self.words.weight, std=0.02)
        self.position = nn.Parameter(torch.zeros(LONGEST, WIDTH))
        self.attention, self.mixed = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.layer = nn.Sequential(nn.Linear(WIDTH, 96), nn.GELU(), nn.Linear(96, WIDTH))
        self.head = nn.Linear(WIDTH, len(domains))

    def forward(self, inputs_embeds, attention_mask):
        x, mask = inputs_embeds + self.position, attention_mask.bool()
        split = self.attention(self.first(x)).reshape(len(x), LONGEST, 3, HEADS, -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = scaled_dot_product_attention(query, key, value, mask[:, None, None])
        x = x + self.mixed(seen.transpose(1, 2).reshape(len(x), LONGEST, -1))
        x = x + self.layer(self.second(x))
        weight = mask[:, :, None].to(x.dtype)
        return self.head((x * weight).sum(1) / weight.sum(1))


torch.manual_seed(0)
net = Transformer()
tokens = ids([text.split() for text in train["text"]])
targets = torch.tensor([domains.index(domain) for domain in train["domain"]])
optimiser = torch.optim.Adam(net.parameters(), lr=0.003)
for _ in range(4):
    for some in torch.randperm(len(tokens)).split(128):
        optimiser.zero_grad()
        cross_entropy(net(net.words(tokens[some]), tokens[some] > 0), targets[some]).backward()
        optimiser.step()
net.eval()


@torch.no_grad()
def logits(sentences):
    found = ids(sentences)
    return net(net.words(found), found > 0)


answers = logits([text.split() for text in test["text"]]).argmax(1).numpy()
right = np.array(domains)[answers] == test["domain"]
print(f"{right.mean():.1%} of all {len(test):,} test requests are sorted correctly")

# %%
# In embedding space
# ------------------
# ``X`` is a mapping of what the module takes. What holds floats may move, the mask rides along, and where it is 0 nothing
# moves: padding is no word. Distances are of all vectors of a sentence together; ``scale="std"`` measures them in standard
# deviations of the coordinates, and ``theta1`` is the price of one (squared).
held = test.sample(200, random_state=0)
sentences = [text.split()[:LONGEST] for text in held["text"]]
y = np.array([domains.index(domain) for domain in held["domain"]])
found = ids(sentences)
X = {"inputs_embeds": net.words(found).detach(), "attention_mask": found > 0}
profile = tp.profile(net, X, y, scale="std", restarts=0, progress=False)
inside = profile.stability(risk=0.4, theta1=0.1, theta2=0.25)
print(inside)

# %%
# Nothing is certified: attention is no chain of known layers, so the number is what was found, and a cheaper change may exist.
# The result lists how far every word's vector has moved, in the vectors' own unit, and not all the coordinates.
q = inside.sensitive
columns = [f"inputs_embeds[{t}]" for t in range(LONGEST)]
moved = q[q["cost"] > 0].sort_values("cost")
for _, atom in moved.iloc[[len(moved) // 2, -1]].iterrows():
    words = zip(sentences[int(atom["row"])], columns, strict=False)
    print("  ".join(f"{word} {atom[column]:.2f}" for word, column in words))

# %%
# Is that far? Where do moved vectors stand among the words? ``moved_inputs`` gives them as the module takes them.
vectors = net.words.weight.detach()
apart = torch.cdist(vectors[2:], vectors[2:]).fill_diagonal_(np.inf)
there = inside.moved_inputs()["inputs_embeds"]
went = q[columns].to_numpy() > 0
nearest = torch.cdist(there[torch.tensor(went)], vectors).argmin(1).numpy()
own = found[q["row"].to_numpy().copy()].numpy()[went]
print(f"""A word's vector has length {vectors[2:].norm(dim=1).mean():.2f} on average; the nearest other word is
{apart.amin(1).mean():.2f} away. A vector that moves goes {q[columns].to_numpy()[went].mean():.3f} far, and for
{(nearest == own).mean():.1%} of them the nearest word is still their own.""")

# %%
# That is what the unit means. The model breaks at places *between* the words, where no text ever leads. The number tells how
# much room the layers above the embeddings leave, which matters where vectors are rounded or come from another encoder. It says
# nothing about which sentences a user could type.
#
# Word by word
# ------------
# For that, change words: each word of a sentence is dropped, misspelt (so that the model does not know it), or replaced by one
# of the two nearest to it in embedding space, which are words that the *model* takes alike, and no synonyms. Then the same
# again from the worst of these, up to three words in all. Every sentence tried is a line of a table, its ``cost`` the share of
# the words that differ. ``theta1=1``: to change all words of all sentences would cost 1.
near = apart.topk(2, largest=False).indices + 2


def edited(words, at):
    """A sentence with another word at a place, in four ways; None marks a word that was dropped."""
    known = number.get(words[at], 1)
    others = [vocabulary[k] for k in near[known - 2].tolist()] if known > 1 else []
    return [[*words[:at], word, *words[at + 1 :]] for word in (None, "[unknown]", *others)]


lines = []
for i, words in enumerate(sentences):
    lines.append((i, 0.0, " ".join(words), int(logits([words]).argmax() != y[i])))
    worst, open_ = words, set(range(len(words)))
    for edits in range(1, min(3, len(words) - 1) + 1):
        tried = [(at, each) for at in sorted(open_) for each in edited(worst, at)]
        plain = [[word for word in each if word is not None] for _, each in tried]
        scores = logits(plain)
        cost, wrong = edits / len(words), (scores.argmax(1) != y[i]).int().tolist()
        lines += [(i, cost, " ".join(p), w) for p, w in zip(plain, wrong, strict=True)]
        at, worst = tried[int(scores.log_softmax(1)[:, y[i]].argmin())]
        open_.discard(at)
table = pd.DataFrame(lines, columns=["sample", "cost", "text", "loss"])
outside = tp.profile_table(table).stability(risk=0.4, theta1=1.0, theta2=0.25)
print(f"{len(table):,} sentences were tried.\n{outside}")

# %%
# Exact means: among the sentences of this table. A longer list of words to try can only make it smaller.
changed = outside.sensitive.query("cost > 0").sort_values("cost").drop_duplicates("row")
for _, atom in changed.iloc[:: max(len(changed) // 4, 1)].head(4).iterrows():
    print(f"{' '.join(sentences[int(atom['row'])])}\n    -> {atom['text']}")

# %%
# Side by side
# ------------
# What does it take to mislead the model on a sentence, in either unit? Left is what was found: a better search raises it.
everyone = profile.stability(profile.reach, theta1=1.0, theta2=np.inf).sensitive
distance = everyone["cost"].pow(0.5).where(everyone["loss"] > 0)
share = table[table["loss"] == 1].groupby("sample")["cost"].min()
_, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained", sharey=True)
axes[0].ecdf(distance.fillna(np.inf))
axes[1].ecdf(share.reindex(range(len(y))).fillna(np.inf))
axes[0].set(xlabel=f"distance in {inside.unit}", ylabel="error rate at worst", xlim=0)
axes[1].set(xlabel="share of the words that may change", xlim=(0, 0.6), ylim=(0, 1.02))
print(f"vectors move   {inside.value:.4f}, {inside.standing.kind}, in {inside.unit}")
print(
    f"words change   {outside.value:.4f}, {outside.standing.kind} for this table, in shares of words"
)

# %%
# Do not compare the two numbers: one is a squared distance in a space that the model made up while it was trained, the other a
# share of words. Each compares with its like: classifiers on the same embeddings, models on the same table (``tp.compare``
# pairs the sentences). But both views can be asked *which* sentences are fragile. Do they agree?
near_errors = distance.groupby(everyone["row"]).first()
both = pd.DataFrame({"distance": near_errors, "share": share}).query("distance > 0").dropna()
print(f"rank correlation over {len(both)} sentences: {both.corr('spearman').iloc[0, 1]:.2f}")

# %%
# Next: :doc:`/how-to/text-models` has the same with Hugging Face's names; :doc:`05_table_of_alternatives` is about tables.

# sphinx_gallery_thumbnail_number = 1
