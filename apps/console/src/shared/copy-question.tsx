'use client';
import { useSearchParams } from 'next/navigation';
import { Suspense } from 'react';
import { toProblem } from '../api/problem';
import { useCluster } from '../api/use-cluster';
import { CopyAs } from './copy-as';
import { addressOf, type Question, questionForms } from './copy-forms';

type Props = {
  question: Question;
  /** Subject of the question, if the page has several. */
  of?: string;
  /** A list comes by pages: the CLI reads them all. */
  isList?: boolean;
  /** The filter in the page's own address is the question's, if there is one. */
  hasFilter?: boolean;
};

/** The page's data in another form: the same question by the CLI and by curl, and its answer as JSON. */
export function CopyQuestionAs(props: Props) {
  return (
    <Suspense>
      <Copies {...props} />
    </Suspense>
  );
}

function Copies({ question, of, isList = false, hasFilter = false }: Props) {
  const { id: clusterId } = useCluster();
  const filter = (useSearchParams().get('q') ?? '').trim();
  const asked = hasFilter && filter !== '' ? { ...question, query: { ...question.query, filter } } : question;
  return (
    <CopyAs
      of={of}
      forms={[
        ...questionForms(asked, { clusterId, isList }),
        {
          label: 'JSON',
          text: isList ? 'the first page of the answer' : 'the answer',
          load: () => answerOf(addressOf(asked, clusterId)),
        },
      ]}
    />
  );
}

async function answerOf(address: string): Promise<string> {
  const response = await fetch(address);
  const answer: unknown = await response.json();
  if (!response.ok) throw toProblem(response.status, answer);
  return JSON.stringify(answer, null, 2);
}
