// Limits of a server's audit log, as limits.ts.
import { transferChunkBytesMax } from './limits.ts';

const KIB = 1024;

/** One file: some 15,000 lines. */
export const auditFileBytesMax = 4 * KIB * KIB;
/** Files that are kept, the one that is written included: months of an ordinary cluster. */
export const auditFilesMax = 8;
/** A line says who did what, and no more. */
export const auditLineBytesMax = 2 * KIB;
/** Lines that wait to be written; what comes beyond them is counted and not kept. */
export const auditWaitingMax = 4_096;
/** Lines are gathered for so long: a refused flood is one write, not thousands. */
export const auditFlushMs = 200;
/** Lines of one answer. */
export const auditAnswerLinesMax = Math.floor(transferChunkBytesMax / auditLineBytesMax);
