// Reads the audit log of the receiver. Pure.
import { auditAnswerLinesMax, auditLineBytesMax } from '@ringwright/base/limits-access';
import { z } from 'zod';
import { messageKind } from './message.ts';

/** Returns the newest lines before line number `before`, oldest first; null: the newest of all. */
export const auditRead = messageKind({
  method: 'audit-read',
  request: z.strictObject({
    before: z.nullable(z.int().min(1)),
    limit: z.int().min(1).max(auditAnswerLinesMax),
  }),
  /** Lines as they are in the file: each contains the hash of the previous one. */
  answer: z.strictObject({
    lines: z.array(z.string().max(auditLineBytesMax)).max(auditAnswerLinesMax),
  }),
});
