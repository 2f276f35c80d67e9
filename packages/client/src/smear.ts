// Insert smearing (EventQL): spreads puts of one moment over a window.
import { CodedError } from '@ringwright/base/coded-error';
import { clientSmearMsMax } from '@ringwright/base/limits';

/** Returns the window. Throws VALUE_OUT_OF_RANGE. */
export function checkSmear(windowMs: number): number {
  if (windowMs >= 0 && windowMs <= clientSmearMsMax) return windowMs;
  const message = `smearMs is ${windowMs}, allowed are 0 to ${clientSmearMsMax}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message, { details: { smearMs: windowMs } });
}

/** Resolves after a random part of `windowMs`. */
export async function smear(windowMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * windowMs));
}
