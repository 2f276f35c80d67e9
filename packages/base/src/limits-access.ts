// Limits of access documents, tokens and audit logs, as limits.ts.
import { assert } from './assert.ts';
import { ringSignatureCountMax, transferChunkBytesMax } from './limits.ts';

const KIB = 1024;

/** Programs and people of one cluster: each is some 300 bytes with two grants. */
export const accessTokensMax = 512;
/** One program reads and writes some prefixes of some keyspaces. */
export const tokenGrantsMax = 16;
/** Bytes of a prefix: half of the longest key. */
export const grantPrefixBytesMax = 512;
/** What the last change was, in the words of the tool. */
export const accessChangeCharactersMax = 512;
/** The signed bytes: each server holds two copies, and one message carries them. */
export const accessPayloadBytesMax = 160 * KIB;
/** As JSON in JSON, with its signatures: every quotation mark takes a second byte. */
export const accessDocumentBytesMax = 240 * KIB;
/** A server of the future refuses a number that no operator ever counts to. */
export const accessVersionMax = 2 ** 31 - 1;
/** Random bytes of a secret: nobody guesses them, so a plain hash of them may be stored. */
export const tokenSecretBytes = 32;

assert(accessDocumentBytesMax <= transferChunkBytesMax, 'an access document fits one field');
assert(
  accessPayloadBytesMax * 1.4 + ringSignatureCountMax * 256 <= accessDocumentBytesMax,
  'a payload fits its document',
);

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
