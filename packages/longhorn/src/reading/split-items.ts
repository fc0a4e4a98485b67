/**
 * Splitting of a file into the texts of its objects, each with the line on which it begins. One object at a time is parsed: a list of
 * 60,000 replicas would take gigabytes as one tree, and one broken item would cost all the others.
 */

export type ItemText = {
  readonly text: string;
  readonly line: number;
  /** Of the list that it is an item of; a document of its own has none. */
  readonly listKind: string | undefined;
};

export type Splitting =
  | { readonly kind: 'items'; readonly items: Iterable<ItemText> }
  | { readonly kind: 'wrong'; readonly line: number; readonly message: string };

export function splitItems(text: string): Splitting {
  return /^\s*[{[]/.test(text) ? jsonItems(text) : { kind: 'items', items: yamlItems(text) };
}

/** A stretch of the text: from a place up to another, which is not in it any more. */
type Span = { readonly begin: number; readonly end: number };

/** Documents of YAML end at `---`; of a list the items begin at the dash that stands farthest left behind `items:`. */
function* yamlItems(text: string): Generator<ItemText> {
  const lines = new LineCount(text);
  for (const document of documentsOf(text)) yield* itemsOfDocument(text, document, lines);
}

function* documentsOf(text: string): Generator<Span> {
  let begin = 0;
  for (const { index, 0: mark } of text.matchAll(/^(?:---|\.\.\.)(?=\s|$).*$/gm)) {
    yield { begin, end: index };
    begin = index + mark.length;
  }
  yield { begin, end: text.length };
}

/** Line numbers of positions, queried in ascending order. */
class LineCount {
  private position = 0;
  private line = 1;

  constructor(private readonly text: string) {}

  at(position: number): number {
    for (;;) {
      const end = this.text.indexOf('\n', this.position);
      if (end === -1 || end >= position) return this.line;
      this.position = end + 1;
      this.line += 1;
    }
  }
}

function* itemsOfDocument(text: string, document: Span, lines: LineCount): Generator<ItemText> {
  const whole = text.slice(document.begin, document.end);
  const first = /^[^\S\n]*[^\s#]/m.exec(whole);
  if (first === null) return;
  const list = /^items:[^\S\n]*(?:#.*)?$(?:\n[^\S\n]*(?:#.*)?$)*\n( *)- /m.exec(whole);
  if (list === null) {
    // An empty list, or one object.
    if (/^items:\s*\[\s*\]\s*$/m.test(whole)) return;
    yield {
      text: whole.slice(first.index),
      line: lines.at(document.begin + first.index),
      listKind: undefined,
    };
    return;
  }
  const [head, indent = ''] = list;
  const listKind = /^kind: *["']?([A-Za-z]+)["']?\s*$/m.exec(whole)?.[1];
  const begin = list.index + head.length - 2 - indent.length;
  for (const { begin: from, end } of itemsBehind(whole, begin, indent)) {
    // The dash becomes a space: all lines of the item are indented alike then.
    const item = `${indent}  ${whole.slice(from + indent.length + 2, end)}`;
    yield { text: item, line: lines.at(document.begin + from), listKind };
  }
}

/** @param begin of the first item's line */
function* itemsBehind(text: string, begin: number, indent: string): Generator<Span> {
  const next = `\n${indent}- `;
  // A key of the list again, which stands left of what belongs to an item: nothing behind it does.
  const after = new RegExp(`^(?!${indent}(?:- | ))[^\\S\\n]*[^\\s#]`, 'gm');
  after.lastIndex = begin;
  const last = after.exec(text)?.index ?? text.length;
  for (let from = begin; from < last; ) {
    const found = text.indexOf(next, from);
    const end = found === -1 || found >= last ? last : found + 1;
    yield { begin: from, end };
    from = end;
  }
}

/** JSON: the members of `items` where there are any, else the whole. Several objects may follow each other, as `jq -c` writes them. */
function jsonItems(text: string): Splitting {
  const items: ItemText[] = [];
  const scan = new JsonScan(text);
  for (;;) {
    const begin = scan.nextValue();
    if (begin === undefined) return { kind: 'items', items };
    const end = scan.endOf(begin);
    if (end === undefined)
      return {
        kind: 'wrong',
        line: scan.lineOf(begin),
        message: 'the JSON ends inside an object: it was cut off',
      };
    items.push(...membersOf(text.slice(begin, end), scan.lineOf(begin)));
    scan.position = end;
  }
}

/** Items of a list of objects, or the object itself. */
function membersOf(text: string, firstLine: number): ItemText[] {
  const head = /"items"\s*:\s*\[/.exec(text);
  // `items` of the list itself stands one level deep; of anything deeper the text up to it would not be balanced so.
  if (head === null || depthAt(text, head.index) !== 1)
    return [{ text, line: firstLine, listKind: undefined }];
  const listKind = /"kind"\s*:\s*"([A-Za-z]+)"/.exec(outside(text, head.index))?.[1];
  const scan = new JsonScan(text);
  scan.position = head.index + head[0].length;
  const items: ItemText[] = [];
  for (;;) {
    const begin = scan.nextValue();
    const end = begin === undefined ? undefined : scan.endOf(begin);
    if (begin === undefined || end === undefined) return items;
    items.push({ text: text.slice(begin, end), line: firstLine + scan.lineOf(begin) - 1, listKind });
    scan.position = end;
  }
}

/** Text around the items: the list's own kind may come before or behind them. */
function outside(text: string, at: number): string {
  return text.slice(0, at) + text.slice(-200);
}

function depthAt(text: string, at: number): number {
  const before = text.slice(0, at).replaceAll(/"(?:[^"\\]|\\.)*"/g, '');
  return (before.match(/[{[]/g)?.length ?? 0) - (before.match(/[}\]]/g)?.length ?? 0);
}

/** Finds where values of JSON begin and end, by quotes and brackets alone; whether they are JSON the parser says. */
class JsonScan {
  position = 0;
  private counted = { position: 0, line: 1 };

  constructor(private readonly text: string) {}

  /** The next object; `undefined`: a bracket closes, or the text ends. */
  nextValue(): number | undefined {
    while (this.position < this.text.length && /[\s,[]/.test(this.text[this.position] ?? ''))
      this.position += 1;
    return this.text[this.position] === '{' ? this.position : undefined;
  }

  endOf(begin: number): number | undefined {
    let depth = 0;
    for (let at = begin; at < this.text.length; at += 1) {
      const character = this.text[at];
      if (character === '"') {
        at = this.endOfString(at);
      } else if (character === '{' || character === '[') {
        depth += 1;
      } else if (character === '}' || character === ']') {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    return undefined;
  }

  private endOfString(begin: number): number {
    let at = begin + 1;
    while (at < this.text.length && this.text[at] !== '"') at += this.text[at] === '\\' ? 2 : 1;
    return at;
  }

  lineOf(position: number): number {
    for (let at = this.counted.position; at < position; at += 1) {
      if (this.text[at] === '\n') this.counted.line += 1;
    }
    this.counted.position = position;
    return this.counted.line;
  }
}
