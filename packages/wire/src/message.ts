// A message kind: a method name with the schemas of its request and its answer. Pure.
import type { z } from 'zod';

export interface MessageKind<Request extends z.ZodType, Answer extends z.ZodType> {
  readonly method: string;
  readonly request: Request;
  readonly answer: Answer;
}

export function messageKind<Request extends z.ZodType, Answer extends z.ZodType>(
  kind: MessageKind<Request, Answer>,
): MessageKind<Request, Answer> {
  return kind;
}

/** What a caller passes and a server receives. */
export type RequestOf<Kind> =
  Kind extends MessageKind<infer Request, z.ZodType> ? z.infer<Request> : never;

/** What a server returns and a caller receives. */
export type AnswerOf<Kind> =
  Kind extends MessageKind<z.ZodType, infer Answer> ? z.infer<Answer> : never;
