'use client';
import type { SilentNodes } from '@holdfast/core/policy/silent-nodes.js';
import { createContext, type ReactNode, useContext, useMemo } from 'react';
import { useRisk } from './queries';

const NONE: SilentNodes = new Set();

const SilentNodesContext = createContext<SilentNodes>(NONE);

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
  return <SilentNodesContext value={silent}>{children}</SilentNodesContext>;
}

/** Nodes whose agents do not answer: what their rows say of copies and engines is from before. The look at the risk names each. */
export function useSilentNodes(): SilentNodes {
  return useContext(SilentNodesContext);
}
