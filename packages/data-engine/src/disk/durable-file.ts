import fs from 'node:fs/promises';
import path from 'node:path';

/** Replaces a file atomically: after a crash it has either the old or the new content, whole. */
export async function writeDurably(file: string, content: string): Promise<void> {
  const temporary = `${file}.tmp`;
  const handle = await fs.open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await fs.rename(temporary, file);
  await syncDirectory(path.dirname(file));
}

/** Makes names that were created, renamed or removed in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await fs.open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
