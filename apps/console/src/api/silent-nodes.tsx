'use client';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { useRisk } from './queries';

const NONE: ReadonlySet<string> = new Set();

const SilentNodes = createContext<ReadonlySet<string>>(NONE);

/**
 * Watches which nodes do not answer, once for all that is below. Each row of a list has several parts that depend on it: a watch of
 * their own, with its timers, would cost a scroll more than the rows themselves.
 */
export function SilentNodesProvider({ children }: { children: ReactNode }) {
  const causes = useRisk().data?.causes;
  const silent = useMemo(
    () =>
      new Set(
        causes?.flatMap(({ kind, subjectId }) => (kind === 'node' && subjectId !== null ? [subjectId] : [])),
      ),
    [causes],
  );
  return <SilentNodes value={silent}>{children}</SilentNodes>;
}

/** Nodes whose agents do not answer: what their rows say of copies and engines is from before. The look at the risk names each. */
export function useSilentNodes(): ReadonlySet<string> {
  return useContext(SilentNodes);
}
