'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { useEffect, useState } from 'react';
import { api } from '../../src/api/client';
import { paths } from '../../src/paths';
import { EntryFrame } from '../../src/shared/entry-frame';
import { useEntrySubmit } from '../../src/shared/use-entry-submit';

/** Lets a program that shows a code act as the signed-in user. */
export default function DevicePage() {
  const [code, setCode] = useState('');
  const [approved, setApproved] = useState<string>();
  const { submit, busy, error } = useEntrySubmit(async () => {
    const { name, address } = await api.approveDevice(code);
    setApproved(`${name}, at ${address}, is signed in. You may close this page.`);
  });

  // The link that the program prints has the code after the hash sign.
  useEffect(() => setCode(window.location.hash.slice(1)), []);

  return (
    <EntryFrame
      title="Sign a program in"
      subtitle="It will act as you, until you revoke its token."
      error={error}
      onSubmit={submit}
      note={
        <>
          Approve only a code that you see in a program which you have started yourself. You have to be{' '}
          <a className="underline" href={paths.signIn}>
            signed in
          </a>
          .
        </>
      }
    >
      {approved === undefined ? (
        <>
          <TextField
            label="Code that the program shows"
            name="code"
            value={code}
            onChange={(event) => setCode(event.target.value)}
            required
          />
          <Button type="submit" variant="primary" busy={busy}>
            Approve
          </Button>
        </>
      ) : (
        <p role="status" className="text-sm">
          {approved}
        </p>
      )}
    </EntryFrame>
  );
}
