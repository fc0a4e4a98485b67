import { type FormEvent, useState } from 'react';
import { isProblem } from '../api/problem';

/** Sends a form of a page that is not in the console's frame, and says why it was refused. */
export function useEntrySubmit(send: (form: FormData) => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await send(new FormData(event.currentTarget));
    } catch (problem) {
      setError(isProblem(problem) ? problem.detail : 'There was no answer. The API may be restarting.');
      setBusy(false);
    }
  }
  return { submit, busy, error };
}
