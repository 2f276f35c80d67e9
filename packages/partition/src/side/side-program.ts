// Program beside a store (side-process.ts): does one job at a time, and answers with its result.
import { flushCompileCache } from 'node:module';
import { messageOf } from '@ringwright/base/thrown';
import { answerParent, takeOrders } from '@ringwright/node/background-program';
import { copyFile, copyPages } from './copy-file.ts';
import type { SideAnswer, SideRequest, SideWork } from './side-process.ts';

/** SQLite takes half of the start-up time, so a process that only copies does not load it. */
const audits = () => import('../audit/audit-file.ts');

async function answerOf(work: SideWork, onWait: () => void): Promise<SideAnswer> {
  try {
    if (work.kind === 'copy') return { kind: 'copied', copy: copyFile(work.from, work.to) };
    if (work.kind === 'copy-pages') {
      copyPages(work);
      return { kind: 'done' };
    }
    if (work.kind === 'make') {
      const { makeFiles } = await import('./make-file.ts');
      return { kind: 'made', files: await makeFiles(work.files, onWait) };
    }
    if (work.kind === 'build') {
      const { buildChildren } = await import('./build-children.ts');
      return { kind: 'built', children: buildChildren(work) };
    }
    if (work.kind === 'merge') {
      const { mergeFile } = await import('./merge-file.ts');
      mergeFile(work);
      return { kind: 'done' };
    }
    const { auditStaged } = await audits();
    return { kind: 'audited', audit: await auditStaged(work.file, work.owner, onWait) };
  } catch (error) {
    return { kind: 'failed', message: messageOf(error) };
  }
}

async function take(request: SideRequest): Promise<void> {
  if (request.kind === 'prepare') await audits();
  else {
    const { id, work } = request;
    const tell = (answer: SideAnswer): void => answerParent({ id, answer });
    tell(await answerOf(work, () => tell({ kind: 'waits' })));
  }
  flushCompileCache(); // now, because the process is killed when it is idle
}

takeOrders(take);
