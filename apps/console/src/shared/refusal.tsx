import { isProblem } from '../api/problem';
import { sentence } from '../sentence';

const SILENCE = 'There was no answer. It may have been done.';

type Props = {
  problem: unknown;
  /** Text for an unknown outcome, when no answer came. */
  silence?: string;
};

/** Why a request was refused, and what would help; or that there was no answer. */
export function Refusal(props: Props) {
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
      <RefusalWords {...props} />
    </div>
  );
}

/** The text of a refusal, for a place with its own layout. */
export function RefusalWords({ problem, silence = SILENCE }: Props) {
  const known = isProblem(problem) ? problem : undefined;
  return (
    <>
      <p>{known === undefined ? silence : sentence(known.detail)}</p>
      {known !== undefined && known.cures.length > 0 && (
        <ul className="mt-1 list-disc pl-5">
          {known.cures.map((cure) => (
            <li key={cure}>{sentence(cure)}</li>
          ))}
        </ul>
      )}
    </>
  );
}
