/** The value of a JSON column that the storage does not validate; its reader does. */
export type JsonObject = Record<string, unknown>;
