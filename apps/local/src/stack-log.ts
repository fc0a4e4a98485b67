import fs from 'node:fs';
import path from 'node:path';

/** Log of the stack: `say` prints on the terminal and writes to the file, `note` only writes. */
export type StackLog = {
  say(line: string): void;
  note(line: string): void;
};

/** The log in the home's folder of logs, which may not exist yet at the first line. */
export function stackLog(home: string): StackLog {
  const note = (line: string) => {
    const directory = path.join(home, 'logs');
    fs.mkdirSync(directory, { recursive: true });
    fs.appendFileSync(path.join(directory, 'stack.log'), `${new Date().toISOString()} ${line}\n`);
  };
  return {
    note,
    say(line) {
      console.log(`holdfast: ${line}`);
      note(line);
    },
  };
}
