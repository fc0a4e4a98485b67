/** QEMU's own NBD client, with one connection that stays open over many commands, as the disk of a virtual machine has it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import readline from 'node:readline';

/** Result of a command of `qemu-io`, and the message of a failed one. */
const DONE = /(wrote|read) \d+\/\d+ bytes at offset/;
const FAILED = /failed|error|can't open|cannot|No such|Could not/i;

export class QemuIo {
  private readonly lines: AsyncIterableIterator<string>;
  private readonly told: string[] = [];

  private constructor(private readonly process: ChildProcessWithoutNullStreams) {
    this.lines = readline.createInterface({ input: process.stdout })[Symbol.asyncIterator]();
    process.stderr.setEncoding('utf8').on('data', (text: string) => this.told.push(text));
    // Of a process that has ended: the answer that never comes says so.
    process.stdin.on('error', () => undefined);
    process.on('error', (error) => this.told.push(error.message));
  }

  /** @param nbdUri if it can't be opened, the first command reports that */
  static open(nbdUri: string): QemuIo {
    return new QemuIo(spawn('qemu-io', ['-f', 'raw', nbdUri]));
  }

  /**
   * Runs one command that reads or writes.
   *
   * @throws Error when it fails, or has no answer in time; the client is of no use afterwards
   */
  async command(text: string, timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms: ${text}`)), timeoutMs);
    });
    this.process.stdin.write(`${text}\n`);
    try {
      await Promise.race([this.answered(text), late]);
    } catch (error) {
      this.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private async answered(text: string): Promise<void> {
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done === true) throw new Error(`qemu-io ended at ${text}: ${this.told.join('').trim()}`);
      if (DONE.test(value)) return;
      if (FAILED.test(value)) throw new Error(`${text}: ${value}`);
    }
  }

  close(): void {
    this.process.kill('SIGKILL');
  }
}
