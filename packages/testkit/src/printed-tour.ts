/**
 * Commands with their output, as a page prints them: a command behind `$ `, its output below. `…` stands for any text, and on a line
 * of its own for any lines; parts that differ each time, such as ids, are compared as such.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

export type Step = { readonly command: string; readonly output: string };

/** The steps in the blocks of one section of a Markdown page. */
export function stepsOf(page: string, section: string): Step[] {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [body = ''] = text.split('\n## ');
  return [...body.matchAll(/^```\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((step) => {
        const [command = '', ...output] = step.trimEnd().split('\n');
        return { command, output: output.join('\n') };
      }),
  );
}

/** Kinds of text that differ each time. The longer ones come first, since an id may be part of them. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  // Progress of a command that waits longer than its first few seconds, as on a busy machine.
  [/^[\w-]+ waits \(\d+ s\): .*\n/gm, ''],
  [/\bnbd:\/\/127\.0\.0\.1:\d+\/([\w-]+)\.[\w-]{36}\.[\w-]+/g, 'nbd://<port>/$1.<export>'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b[0-9a-f]{64}\b/g, '<checksum>'],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>'],
  [/\bpid \d+/g, 'pid <pid>'],
  [/(?<=^| )\d+[smh](?= ago|$)/gm, '<age>'],
  [/ +/g, ' '],
  [/ $/gm, ''],
];

function withoutVarying(text: string): string {
  return VARYING.reduce((all, [pattern, word]) => all.replace(pattern, word), text.trim());
}

/** Whether the output is the printed one. */
export function isAsPrinted(output: string, printed: string): boolean {
  const pattern = withoutVarying(printed)
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`))
    .join('');
  return new RegExp(`^${pattern}$`).test(`${withoutVarying(output)}\n`);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

const END = '--- end of a step ---';

/** One bash that runs commands one after the other, as a reader types them. */
export class TypedShell {
  private readonly bash: ChildProcessWithoutNullStreams;
  private said = '';
  private onOutput: () => void = () => {};

  constructor(cwd: string, env: Record<string, string>) {
    this.bash = spawn('bash', ['--norc'], { cwd, env });
    for (const stream of [this.bash.stdout, this.bash.stderr])
      stream.on('data', (chunk: Buffer) => {
        this.said += chunk.toString();
        this.onOutput();
      });
    this.bash.once('close', () => this.onOutput());
  }

  /** Both outputs of the command, together. */
  async run(command: string): Promise<string> {
    this.said = '';
    const ended = new Promise<void>((resolve) => {
      this.onOutput = () => {
        if (this.said.includes(END) || this.bash.exitCode !== null) resolve();
      };
    });
    this.bash.stdin.write(`{ ${command}\n} 2>&1 < /dev/null\necho '${END}'\n`);
    await ended;
    return this.said.split(END)[0] ?? '';
  }

  end(): void {
    this.bash.kill('SIGKILL');
  }
}
