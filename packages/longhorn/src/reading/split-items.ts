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

/** Documents of YAML end at `---`; of a list the items begin at the dash that stands farthest left behind `items:`. */
function* yamlItems(text: string): Generator<ItemText> {
  let document: Line[] = [];
  for (const line of linesOf(text)) {
    if (!/^(?:---|\.\.\.)(?:\s|$)/.test(line.text)) {
      document.push(line);
      continue;
    }
    yield* itemsOfDocument(document);
    document = [];
  }
  yield* itemsOfDocument(document);
}

type Line = { readonly text: string; readonly number: number };

function* linesOf(text: string): Generator<Line> {
  let begin = 0;
  for (let number = 1; begin <= text.length; number += 1) {
    const end = text.indexOf('\n', begin);
    yield { text: text.slice(begin, end === -1 ? text.length : end).replace(/\r$/, ''), number };
    if (end === -1) return;
    begin = end + 1;
  }
}

function* itemsOfDocument(lines: readonly Line[]): Generator<ItemText> {
  const first = lines.find(({ text }) => !isEmpty(text));
  if (first === undefined) return;
  const at = lines.findIndex(({ text }) => /^items:\s*(?:#.*)?$/.test(text));
  const dash =
    at === -1
      ? undefined
      : /^( *)- /.exec(lines.slice(at + 1).find(({ text }) => !isEmpty(text))?.text ?? '');
  if (dash === undefined || dash === null) {
    // An empty list, or one object.
    if (lines.some(({ text }) => /^items:\s*\[\s*\]\s*$/.test(text))) return;
    yield {
      text: lines.map(({ text }) => text).join('\n'),
      line: lines[0]?.number ?? 1,
      listKind: undefined,
    };
    return;
  }
  const kind = lines
    .map(({ text }) => /^kind: *["']?([A-Za-z]+)["']?\s*$/.exec(text)?.[1])
    .find((one) => one !== undefined);
  yield* itemsBehind(lines, at + 1, dash[1]?.length ?? 0, kind);
}

function* itemsBehind(
  lines: readonly Line[],
  from: number,
  indent: number,
  listKind: string | undefined,
): Generator<ItemText> {
  const marker = `${' '.repeat(indent)}- `;
  let item: Line[] = [];
  const text = () => item.map((line) => line.text.slice(indent + 2)).join('\n');
  for (let index = from; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) break;
    const isNext = line.text.startsWith(marker);
    // A key of the list again: nothing behind it belongs to an item.
    const isEnd = !isNext && !isEmpty(line.text) && !line.text.startsWith(`${' '.repeat(indent)} `);
    if ((isNext || isEnd) && item[0] !== undefined) yield { text: text(), line: item[0].number, listKind };
    if (isEnd) return;
    item = isNext ? [line] : [...appended(item, line)];
  }
  if (item[0] !== undefined) yield { text: text(), line: item[0].number, listKind };
}

function appended(item: Line[], line: Line): Line[] {
  item.push(line);
  return item;
}

function isEmpty(text: string): boolean {
  return /^\s*(?:#.*)?$/.test(text);
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
