// Sends a request to a server, and records it in a history from its start.
import type { Operation } from '../../test/support/history-operation.ts';
import type { Answer, Question } from './clients/worker-client.ts';

type Noted = Question & Pick<Operation, 'session'>;

export async function noted(
  history: Operation[],
  question: Noted,
  ask: () => Promise<Answer>,
): Promise<Operation> {
  const invokedMs = performance.now();
  // Until the answer arrives, the operation may or may not have been done.
  const open = { outcome: 'unknown', stamp: null, port: 0, returnedMs: Infinity } as const;
  const index = history.push({ ...question, ...open, invokedMs }) - 1;
  const answer = await ask();
  const returnedMs = performance.now();
  const { value = question.value } = answer;
  const operation = { ...question, ...answer, value, invokedMs, returnedMs };
  history[index] = operation;
  return operation;
}
