export const run = (input: unknown) => input;
