/** The value of a JSON column whose content the storage does not look into. Its reader validates it. */
export type JsonObject = Record<string, unknown>;
