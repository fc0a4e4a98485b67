'use client';
import { Button } from '@holdfast/ui/button.js';
import { CopyText } from '@holdfast/ui/copy-text.js';
import { Message } from '@holdfast/ui/message.js';
import { isProblem } from '../api/problem';

/** Content of a panel whose data could not be read: what, why, and a way on. */
export function ProblemMessage({ error, retry, what }: { error: unknown; retry: () => void; what: string }) {
  const problem = isProblem(error) ? error : undefined;
  return (
    <Message
      tone="problem"
      title={`Could not load ${what}`}
      body={
        <>
          <p>{problem?.detail ?? 'There was no answer. The API may be restarting.'}</p>
          {problem?.requestId !== undefined && (
            <div className="mt-2 text-left">
              <CopyText text={problem.requestId} label="request id" />
            </div>
          )}
        </>
      }
      action={<Button onClick={retry}>Try again</Button>}
    />
  );
}
