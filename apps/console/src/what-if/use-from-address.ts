import { useState } from 'react';

/** Value from the address until the form is changed, and again once the address changes: by a question, a link or back. */
export function useFromAddress<Value>(
  asked: string,
  read: (asked: URLSearchParams) => Value,
): [Value, (value: Value) => void] {
  const [state, setState] = useState(() => ({ asked, value: read(new URLSearchParams(asked)) }));
  const current = state.asked === asked ? state : { asked, value: read(new URLSearchParams(asked)) };
  // While rendering, not in an effect: the form is filled right after, and needs its fields to be there.
  if (current !== state) setState(current);
  return [current.value, (value) => setState({ asked, value })];
}
