/** State of a panel's data while the API answers, refuses, or is silent. */
import { isProblem } from '../api/problem';

export type PanelState =
  | 'loading'
  /** It could not be had, though the API answers. */
  | 'problem'
  /** It could not be had, as nothing can now: the page says why, once for all panels. */
  | 'unanswered'
  /** It was had, and could not be refreshed, though the API answers. */
  | 'stale'
  | 'data';

/** @param isCut whether the API does not answer at all, which the page's own banner shows */
export function panelStateOf({ data, error }: { data: unknown; error: unknown }, isCut: boolean): PanelState {
  const isFailed = error !== null && error !== undefined;
  const isRefused = isProblem(error) && error.status < 500;
  if (data !== undefined) return isFailed && (!isCut || isRefused) ? 'stale' : 'data';
  if (isFailed && (!isCut || isRefused)) return 'problem';
  return isCut ? 'unanswered' : 'loading';
}
