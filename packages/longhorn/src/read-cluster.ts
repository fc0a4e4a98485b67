/** Reading of a Longhorn cluster from a file or folder: bundles of all generations, dumps of kubectl, system backups. */

import type { LonghornCluster } from './model.js';
import { OBJECTS_MAX, PROBLEMS_MAX } from './reading/bounds.js';
import type { ReadProblem } from './reading/problem.js';
import { type KubernetesObject, readObjects } from './reading/read-objects.js';
import { sourceFiles } from './reading/source-files.js';
import { ClusterBuilder } from './to-cluster.js';

/** @throws Error of the file system where there is nothing at that path */
export async function readCluster(path: string): Promise<LonghornCluster> {
  const problems: ReadProblem[] = [];
  let problemsLeftOut = 0;
  let unreadFiles = 0;
  const tell = (problem: ReadProblem) => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem);
    else problemsLeftOut += 1;
  };
  const builder = new ClusterBuilder(tell);
  for await (const part of sourceFiles(path)) {
    if (part.kind === 'unread') {
      unreadFiles += 1;
      continue;
    }
    for (const found of part.kind === 'problem' ? [part] : readObjects(part)) {
      if (found.kind === 'problem') tell(found);
      else if (builder.objects < OBJECTS_MAX) builder.add(found);
      else tell(tooMany(found));
    }
  }
  return { ...builder.build(), problems, problemsLeftOut, unreadFiles };
}

function tooMany({ file, line }: KubernetesObject): ReadProblem {
  const message = `there are more than ${OBJECTS_MAX} objects: the rest is left out`;
  return { kind: 'problem', code: 'bound', file, line, message };
}
