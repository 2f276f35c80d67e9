// Watches a method of all objects of a class, until the mocks are restored.
import { vi } from 'vitest';

interface Around {
  /** With what the method is given. */
  readonly before?: (...about: unknown[]) => unknown;
  /** With what it gives. */
  readonly after?: (answer: unknown) => unknown;
}

/** Calls of a method that gives a promise, and what is done before and after each. */
export function spyAround(
  prototype: object,
  name: string,
  { before = () => {}, after = () => {} }: Around,
): void {
  const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
  vi.spyOn(prototype as Record<string, () => Promise<unknown>>, name).mockImplementation(
    async function (this: unknown, ...about) {
      await before(...about);
      const answer = await Reflect.apply(value, this, about);
      await after(answer);
      return answer;
    },
  );
}
