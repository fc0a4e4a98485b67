/** Reading of a Longhorn cluster from a file or folder: bundles of all generations, dumps of kubectl, system backups. */

import type { Finding } from './inspection/report.js';
import type { LonghornCluster } from './model.js';
import { LOG_BYTES_MAX, OBJECTS_MAX, PROBLEMS_MAX } from './reading/bounds.js';
import type { ReadProblem } from './reading/problem.js';
import { type KubernetesObject, readObjects } from './reading/read-objects.js';
import { sourceFiles } from './reading/source-files.js';
import type { SourceLog } from './reading/source-part.js';
import { type SignatureFinding, SignatureScan } from './signatures/scan.js';
import { ClusterBuilder } from './to-cluster.js';

/** What was read: the cluster, and known failures that its objects and logs show. */
export type ReadSource = {
  readonly cluster: LonghornCluster;
  readonly signatures: readonly SignatureFinding[];
  readonly alertFindings: readonly Finding[];
};

/**
 * @param now the time by which ages are judged
 * @throws Error of the file system where there is nothing at that path
 */
export async function readSource(path: string, now: Date): Promise<ReadSource> {
  const scan = new SignatureScan();
  const cluster = await readWith(path, scan);
  const alertFindings = scan.alertFindings(cluster.version);
  return { cluster, signatures: scan.finish(cluster, now), alertFindings };
}

/** @throws Error of the file system where there is nothing at that path */
export async function readCluster(path: string): Promise<LonghornCluster> {
  return readWith(path, undefined);
}

async function readWith(path: string, scan: SignatureScan | undefined): Promise<LonghornCluster> {
  const problems: ReadProblem[] = [];
  let problemsLeftOut = 0;
  let unreadFiles = 0;
  const tell = (problem: ReadProblem) => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem);
    else problemsLeftOut += 1;
  };
  const builder = new ClusterBuilder(tell);
  const logs = new LogReader(scan, tell);
  for await (const part of sourceFiles(path)) {
    if (part.kind === 'unread') unreadFiles += 1;
    else if (part.kind === 'log') await logs.read(part);
    else {
      for (const found of part.kind === 'problem' ? [part] : readObjects(part)) {
        if (found.kind === 'problem') tell(found);
        else if (builder.objects >= OBJECTS_MAX) tell(tooMany(found));
        else {
          builder.add(found);
          scan?.addObject(found);
        }
      }
    }
  }
  return { ...builder.build(), problems, problemsLeftOut, unreadFiles };
}

class LogReader {
  private left = LOG_BYTES_MAX;

  constructor(
    private readonly scan: SignatureScan | undefined,
    private readonly tell: (problem: ReadProblem) => void,
  ) {}

  async read({ file, pieces }: SourceLog): Promise<void> {
    try {
      for await (const { firstLine, text } of pieces) {
        this.left -= text.length;
        if (this.left < 0)
          return this.report(file, 'bound', `more than ${LOG_BYTES_MAX} bytes of logs: the rest is not read`);
        this.scan?.addLog(file, firstLine, text);
      }
    } catch (error) {
      this.report(
        file,
        'format',
        `the log can't be read on: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  private report(file: string, code: ReadProblem['code'], message: string): void {
    this.tell({ kind: 'problem', code, file, line: 1, message });
  }
}

function tooMany({ file, line }: KubernetesObject): ReadProblem {
  const message = `there are more than ${OBJECTS_MAX} objects: the rest is left out`;
  return { kind: 'problem', code: 'bound', file, line, message };
}
