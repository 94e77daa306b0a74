/** Whether the server can handle requests. */
export interface Service {
  readiness(): Promise<{ database: boolean; keys: boolean }>;
}
