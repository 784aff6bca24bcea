/** Nominal types over plain values: two strings of different meaning cannot be mixed. The smart constructor is the only cast. */
declare const brand: unique symbol;

export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
