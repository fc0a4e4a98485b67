import { formatBytes } from '../../model/bytes.js';

/** Space in words. What is overdrawn has nothing. */
export function formatSpace(bytes = 0): string {
  return formatBytes(Math.max(0, bytes));
}
