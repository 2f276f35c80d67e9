// Runs in the worker thread of audit-thread.ts: takes the names of files, answers with their
// audits.
import { parentPort } from 'node:worker_threads';
import { auditFile } from './audit-file.ts';

parentPort?.on('message', (file: string) => parentPort?.postMessage(auditFile(file)));
