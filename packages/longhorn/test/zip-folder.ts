/** Zip archives for tests, by the format's specification: a test runs where there is Node and nothing else. */
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

const LOCAL = 0x0403_4b50;
const CENTRAL = 0x0201_4b50;
const END = 0x0605_4b50;
const VERSION = 20;
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;

/** @returns the archive beside the folder, which holds it as its one top folder */
export function zipOf(folder: string): string {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const file of filesIn(folder)) {
    const name = Buffer.from(path.relative(path.dirname(folder), file));
    const bytes = fs.readFileSync(file);
    const packed = zlib.deflateRawSync(bytes);
    const facts = factsOf(bytes, packed, name);
    locals.push(numbers([LOCAL, 4]), facts, numbers([0, 2]), name, packed);
    directory.push(numbers([CENTRAL, 4], [VERSION, 2]), facts);
    // Extra field, comment, disk, attributes of two kinds, and where the entry is.
    directory.push(numbers([0, 2], [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]), name);
    offset += 30 + name.length + packed.length;
  }
  const central = Buffer.concat(directory);
  const count = locals.length / 5;
  const end = numbers(
    [END, 4],
    [0, 2],
    [0, 2],
    [count, 2],
    [count, 2],
    [central.length, 4],
    [offset, 4],
    [0, 2],
  );
  const archive = `${folder}.zip`;
  fs.writeFileSync(archive, Buffer.concat([...locals, central, end]));
  return archive;
}

/** The fields that an entry and its line in the directory have in common. */
function factsOf(bytes: Buffer, packed: Buffer, name: Buffer): Buffer {
  const head = numbers([VERSION, 2], [UTF8_NAMES, 2], [DEFLATED, 2], [0, 2], [0x21, 2]);
  return Buffer.concat([
    head,
    numbers([crc32(bytes), 4], [packed.length, 4], [bytes.length, 4], [name.length, 2]),
  ]);
}

function filesIn(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/** Little-endian numbers of so many bytes each. */
function numbers(...fields: readonly (readonly [value: number, bytes: number])[]): Buffer {
  const parts = fields.map(([value, bytes]) => {
    const part = Buffer.alloc(bytes);
    part.writeUIntLE(value, 0, bytes);
    return part;
  });
  return Buffer.concat(parts);
}

function crc32(bytes: Buffer): number {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}
