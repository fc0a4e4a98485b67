/** Options of the commands that export a list. */
import type { Command } from 'commander';
import { CliError, EXIT } from '../exit-codes.js';

export type ExportOptions = { format: string; filter?: string; after: string };

/** @param example a common filter */
export function addExportOptions(command: Command, example: string): Command {
  return command
    .option('--format <format>', 'ndjson or csv', 'ndjson')
    .option('--filter <filter>', `such as ${JSON.stringify(example)}`)
    .option('--after <id>', 'begin after the one of this id', '0');
}

export function exportQuery({ format, filter, after }: ExportOptions) {
  if (format !== 'ndjson' && format !== 'csv') throw new CliError(EXIT.usage, `${format} is no format`);
  return { format, after: Number(after), ...(filter === undefined ? {} : { filter }) } as const;
}

export async function writeOut(stream: AsyncIterable<Uint8Array> | null | undefined): Promise<void> {
  for await (const chunk of stream ?? []) process.stdout.write(chunk);
}
