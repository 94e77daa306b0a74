/** The result of one document: an import, or why it failed. */
export type DocumentVerdict = { name: string; bytes: number; milliseconds: number } & (
  | {
      operations: number;
      imported: number;
      leftOut: Record<string, number>;
      unreadable: string[];
      notes: Record<string, number>;
      faults: string[];
    }
  | {
      /** True for a document that is rejected because it describes no operation. */
      refused: boolean;
      failure: string;
    }
);
