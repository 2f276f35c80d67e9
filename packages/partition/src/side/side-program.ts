// Program beside a store (side-process.ts): does one job at a time, and answers with its result.
import { flushCompileCache } from 'node:module';
import { failureBy } from '@ringwright/base/disk-error';
import { answerParent, takeOrders } from '@ringwright/node/background-program';
import { copyFile, copyPages } from './copy-file.ts';
import type { SideAnswer, SideRequest, SideWork } from './side-work.ts';

/** SQLite takes half of the start-up time, so a process that only copies does not load it. */
const audits = () => import('../audit/audit-partition-file.ts');

async function resultOf(work: SideWork, onWait: () => void): Promise<unknown> {
  switch (work.kind) {
    case 'copy':
      return copyFile(work.from, work.to);
    case 'copy-pages':
      return copyPages(work);
    case 'make':
      return (await import('./make-file.ts')).makeFiles(work.files, onWait);
    case 'build':
      return (await import('./build-children.ts')).buildChildren(work);
    case 'merge':
      return (await import('./build-children.ts')).mergeFile(work);
    case 'audit':
      return (await audits()).auditStaged(work.file, work.owner, onWait);
  }
}

async function handle(request: SideRequest): Promise<void> {
  if (request.kind === 'prepare') await audits();
  else {
    const { id, work } = request;
    const reply = (answer: SideAnswer): void => answerParent({ id, answer });
    await resultOf(work, () => reply({ kind: 'waits' })).then(
      (result) => reply({ kind: 'done', result }),
      (error: unknown) => reply({ kind: 'failed', ...failureBy(error) }),
    );
  }
  flushCompileCache(); // now, because the process is killed when it is idle
}

takeOrders(handle);
