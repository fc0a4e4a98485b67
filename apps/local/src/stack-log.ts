import fs from 'node:fs';
import path from 'node:path';

/** What the stack says to the person at the terminal, and what it only writes down. */
export type StackLog = {
  say(line: string): void;
  note(line: string): void;
};

/** `file` is in the home's logs. Its folder may not exist yet when the first line is said. */
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
