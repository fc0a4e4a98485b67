'use client';
import { Spinner } from '@holdfast/ui/motion.js';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { api, type VolumeShape } from '../api/client';
import type { Simulation } from '../api/types';
import { useAllowed, useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { Refusal } from '../shared/refusal';

/** A pause in typing, after which the scheduler is asked. */
const TYPING_MS = 400;

/** Place of a volume of this shape, asked of the scheduler while its form is filled. Nothing for users who may not ask. */
export function LiveFit({ shape }: { shape: VolumeShape | undefined }) {
  const cluster = useCluster();
  const forbidden = useForbidden()('placement:simulate');
  const isAllowed = useAllowed()('placement:simulate');
  const asked = usePaused(shape);
  const answer = useQuery({
    queryKey: ['fit', cluster.id, asked],
    queryFn: ({ signal }) =>
      api.simulate(
        cluster.id,
        {
          volumes: asked === undefined ? [] : [asked],
          lose: { zones: [], nodes: [], disks: [] },
          add: { disks: [] },
          drain: [],
          settings: {},
          howManyMore: false,
        },
        signal,
      ),
    enabled: asked !== undefined && isAllowed,
    retry: false,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
  if (forbidden !== undefined || shape === undefined) return null;
  const result = answer.data?.shapes[0];
  if (answer.error !== null && !answer.isFetching)
    return <Refusal problem={answer.error} silence="Whether it fits is not known: there was no answer." />;
  const isOld = answer.isFetching || JSON.stringify(shape) !== JSON.stringify(asked);
  return (
    <p role="status" className="flex min-h-10 items-start gap-2 rounded-md bg-sunken px-3 py-2 text-sm">
      {isOld ? (
        <>
          <Spinner size={16} className="mt-0.5 shrink-0" />
          <span className="text-muted">Looking for places…</span>
        </>
      ) : (
        result !== undefined && <Fit result={result} />
      )}
    </p>
  );
}

function Fit({ result: { placed, firstFailure } }: { result: Simulation['shapes'][number] }) {
  const places = placed[0]?.places;
  if (places !== undefined) {
    return (
      <>
        <CircleCheck aria-hidden size={16} className="mt-0.5 shrink-0 text-good" />
        <span>Fits: {places.map(({ nodeName, diskName }) => `${nodeName}/${diskName}`).join(', ')}</span>
      </>
    );
  }
  const cure = firstFailure?.explanation.cures[0]?.sentence;
  return (
    <>
      <TriangleAlert aria-hidden size={16} className="mt-0.5 shrink-0 text-warn" />
      <span>
        Does not fit: {firstFailure?.explanation.sentence}
        {cure !== undefined && <span className="block text-muted">{cure}</span>}
      </span>
    </>
  );
}

/** The value once it has stood still for a moment. */
function usePaused(shape: VolumeShape | undefined): VolumeShape | undefined {
  const [paused, setPaused] = useState(shape);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(shape), TYPING_MS);
    return () => clearTimeout(timer);
  }, [shape]);
  return paused;
}
