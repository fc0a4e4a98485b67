/** Small files of the agent with checksums (`sealed-json.ts`): reading them, and the message about a damaged one. */
import fs from 'node:fs/promises';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { systemCode } from '@holdfast/data-engine/base/system-error.js';

/** @returns `undefined` where there is no such file; any other failure to read it is the caller's */
export async function textOf(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export function stateDamaged(file: string, cure: string, cause?: unknown): StorageFault {
  return new StorageFault('agent.state_damaged', {
    publicMessage: `${file} is not readable: it is not what this agent, or an earlier version, has written`,
    cures: [cure],
    cause,
  });
}
