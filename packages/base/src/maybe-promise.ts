// A value that is there, or comes: what hardly ever waits does not pay for a promise. Pure.

/** Failures that are expected come as rejections, so that callers look for them in one place. */
export type MaybePromise<T> = T | Promise<T>;

/** What becomes of the value: at once when it is there. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  make: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(make) : make(value);
}

/** The value of `work`, or a rejection with what it throws. */
export function tryCall<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}
