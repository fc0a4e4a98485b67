import { databaseTrouble } from '../sql/connection-trouble.js';
import { BackupError } from './backup-error.js';

/** @returns the address, @throws BackupError if its certificates have to be fixed first */
export async function reached(url: string): Promise<string> {
  const trouble = await databaseTrouble(url);
  if (trouble !== undefined) throw new BackupError(trouble);
  return url;
}
