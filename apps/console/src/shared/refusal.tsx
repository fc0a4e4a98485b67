import { isProblem } from '../api/problem';
import { sentence } from '../sentence';

/** Why a request was refused, and what would help; or that there was no answer. */
export function Refusal({ problem }: { problem: unknown }) {
  const known = isProblem(problem) ? problem : undefined;
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      <p>{known === undefined ? 'There was no answer. It may have been done.' : sentence(known.detail)}</p>
      {known !== undefined && known.cures.length > 0 && (
        <ul className="mt-1 list-disc pl-5">
          {known.cures.map((cure) => (
            <li key={cure}>{sentence(cure)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
