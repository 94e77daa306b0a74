import type { JsonObject } from './json-object.ts';

export interface CustomProviderRow {
  id: string;
  identifier: string;
  definition: JsonObject;
  isMcp: boolean;
  version: number;
  createdAt: number;
  updatedAt: number;
}

/** `definition` is any object that JSON can represent. */
export type NewCustomProvider = Omit<CustomProviderRow, 'version' | 'definition'> & { definition: object };
