/** Why a backup can't be made, read or restored: in words for the operator. Never our own mistake. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}
