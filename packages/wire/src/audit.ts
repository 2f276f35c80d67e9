// The audit log of the receiver: what happened there that somebody may ask about. Pure.
import { auditAnswerLinesMax, auditLineBytesMax } from '@ringwright/base/limits-access';
import { z } from 'zod';
import { messageKind } from './message.ts';

/** The newest lines below `before`, oldest first; null: the newest of all. */
export const auditRead = messageKind({
  method: 'audit-read',
  request: z.strictObject({
    before: z.nullable(z.int().min(1)),
    limit: z.int().min(1).max(auditAnswerLinesMax),
  }),
  /** As they are in the file: each holds the hash of the one before. */
  answer: z.strictObject({
    lines: z.array(z.string().max(auditLineBytesMax)).max(auditAnswerLinesMax),
  }),
});
