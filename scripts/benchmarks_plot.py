# SPDX-License-Identifier: MIT
"""The picture of docs/benchmarks.md: how long calls take, as HdrHistogram plots it.

The percentile is on x, so that each step to the right is a tenth of the calls before it;
the time is on y, logarithmic. Colours follow the reader's light or dark theme.
"""
import math
import textwrap

PANEL_WIDTH, PANEL_HEIGHT, LABELS = 350, 250, 150
LEFT, TOP, GAP, HEAD = 56, 68, 62, 20
NINES = 4  # to 99.99 %
TICKS = ((0, "0"), (math.log10(2), "50 %"), (1, "90 %"), (2, "99 %"), (3, "99.9 %"), (4, "99.99 %"))
LINE_HEIGHT = 13
STEPS = (1, 2, 5)

# Of light and of dark; told apart by dashes too.
SERIES = {
    "anybinder": ("#c22f2f", "#ff7b72", ""),
    "raw ioctls": ("#c22f2f", "#ff7b72", "2 3"),
    "seqpacket socket": ("#57606a", "#a5adb6", ""),
    "shared memory, futex": ("#57606a", "#a5adb6", "6 3"),
    "sd-bus, dbus-daemon": ("#0a58c2", "#6cb0ff", ""),
    "sd-bus, dbus-broker": ("#0a58c2", "#6cb0ff", "6 3"),
    "gRPC": ("#7a3fbf", "#c9a2ff", ""),
    "Cap'n Proto RPC": ("#14742f", "#58c878", ""),
    "nng": ("#8f5600", "#e0a343", ""),
}

STYLE = """
  text { font: 11px system-ui, sans-serif; fill: #24292f; }
  .head { font-size: 15px; font-weight: 600; }
  .panel { font-size: 13px; font-weight: 600; }
  .paper { fill: #ffffff; }
  .grid { stroke: #d0d7de; stroke-width: 1; }
  .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
  .ours { stroke-width: 3; }
  .leader { fill: none; stroke-width: 0.7; }
"""
DARK = """
    text { fill: #e6edf3; }
    .paper { fill: #0d1117; }
    .grid { stroke: #30363d; }
"""


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def style():
    light = "".join(f"  .s{i} {{ stroke: {one}; stroke-dasharray: {dash or 'none'}; }}\n"
                    f"  .t{i} {{ fill: {one}; }}\n"
                    for i, (one, _, dash) in enumerate(SERIES.values()))
    dark = "".join(f"    .s{i} {{ stroke: {one}; }}\n    .t{i} {{ fill: {one}; }}\n"
                   for i, (_, one, _) in enumerate(SERIES.values()))
    dark = f"  @media (prefers-color-scheme: dark) {{{DARK}{dark}  }}"
    return f"<style>{STYLE}{light}{dark}\n</style>"


class Panel:
    """One plot, its corner at (x, y); times from @low to @high microseconds."""

    def __init__(self, x, y, low, high):
        self.x, self.y = x, y
        self.low, self.high = math.log10(low), math.log10(high)

    def at(self, percentile, microseconds):
        nines = min(NINES, -math.log10(max(1 - percentile / 100, 10 ** -NINES)))
        high = (math.log10(microseconds) - self.low) / (self.high - self.low)
        return (self.x + PANEL_WIDTH * nines / NINES,
                self.y + PANEL_HEIGHT * (1 - min(1, max(0, high))))

    def axes(self, title):
        right, bottom = self.x + PANEL_WIDTH, self.y + PANEL_HEIGHT
        yield f'<text class="panel" x="{self.x}" y="{self.y - 10}">{escape(title)}</text>'
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for digit in STEPS:
                value = digit * 10 ** power
                if not self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9:
                    continue
                y = self.at(0, value)[1]
                yield f'<path class="grid" d="M{self.x} {y:.1f}H{right}"/>'
                yield (f'<text x="{self.x - 6}" y="{y + 4:.1f}" text-anchor="end">'
                       f"{value:,}</text>")
        for nines, name in TICKS:
            x = self.x + PANEL_WIDTH * nines / NINES
            yield f'<path class="grid" d="M{x:.1f} {self.y}V{bottom}"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{name}</text>'

    def line(self, number, pairs):
        """The path of one distribution, a few points to a line of the file."""
        points = [self.at(*pair) for pair in pairs
                  if pair[0] <= 100 * (1 - 10 ** -NINES)]
        words = [f"{x:.1f} {y:.1f}" for x, y in points]
        rows = [" ".join(words[i:i + 7]) for i in range(0, len(words), 7)]
        thick = " ours" if number == 0 else ""
        path = "\n".join([f'<path class="line s{number}{thick}"', f' d="M{rows[0]}', *rows[1:]])
        return path + '"/>', points[-1]

    def labels(self, ends):
        """Names at the right, moved apart where lines end close to each other."""
        places = sorted((y, x, number, name) for (x, y), number, name in ends)
        last, moved = self.y - LINE_HEIGHT, []
        for y, *_ in places:
            last = max(y, last + LINE_HEIGHT)
            moved.append(last)
        over = max(0, moved[-1] - (self.y + PANEL_HEIGHT))
        for i in range(len(moved) - 1, -1, -1):
            limit = self.y + PANEL_HEIGHT - LINE_HEIGHT * (len(moved) - 1 - i)
            moved[i] = min(moved[i], limit) if over else moved[i]
        for (y, x, number, name), label in zip(places, moved):
            edge = self.x + PANEL_WIDTH + 10
            yield (f'<path class="leader s{number}" d="M{x:.1f} {y:.1f}'
                   f'L{edge - 2} {label:.1f}"/>')
            yield f'<text class="t{number}" x="{edge}" y="{label + 4:.1f}">{escape(name)}</text>'


def step_below(value):
    power = 10 ** math.floor(math.log10(value))
    return max(digit * power for digit in STEPS if digit * power <= value)


def bounds(cells):
    """Steps around what is drawn; a few calls that took next to nothing run out of it."""
    times = [time for _, pairs in cells for percent, time in pairs
             if time > 0 and 10 <= percent <= 100 * (1 - 10 ** -NINES)]
    return step_below(min(times)), 1 / step_below(1 / max(times))


def draw(panels, words):
    """
    @panels: (title, [(name, distribution)]), two to a row; @words: what a reader who does not
    see it is told. Return: the file.
    """
    low, high = bounds([cell for _, cells in panels for cell in cells])
    width = 2 * (LEFT + PANEL_WIDTH + LABELS)
    height = TOP + (len(panels) + 1) // 2 * (PANEL_HEIGHT + GAP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"',
           ' aria-labelledby="title words">',
           '<title id="title">How long a call takes, by percentile</title>',
           *textwrap.wrap(f'<desc id="words">{escape(words)}</desc>', 98), style(),
           f'<rect class="paper" width="{width}" height="{height}"/>',
           f'<text class="head" x="{HEAD}" y="26">How long a call takes: '
           "µs that so many calls do not exceed</text>"]
    for i, (title, cells) in enumerate(panels):
        panel = Panel(LEFT + i % 2 * (LEFT + PANEL_WIDTH + LABELS),
                      TOP + i // 2 * (PANEL_HEIGHT + GAP), low, high)
        out += panel.axes(title)
        ends = []
        for name, pairs in reversed(cells):
            number = list(SERIES).index(name)
            path, end = panel.line(number, pairs)
            out.append(path)
            ends.append((end, number, name))
        out += panel.labels(ends)
    return "\n".join([*out, "</svg>", ""])
