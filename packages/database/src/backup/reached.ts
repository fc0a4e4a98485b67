import { databaseTrouble } from '../sql/connection-trouble.js';
import { BackupError } from './backup-error.js';

/** @returns the address, @throws BackupError where its certificates have to be mended first */
export async function reached(url: string): Promise<string> {
  const trouble = await databaseTrouble(url);
  if (trouble !== undefined) throw new BackupError(trouble);
  return url;
}
