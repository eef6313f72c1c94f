package chronoseal.bcpki;
public final class Main { public static void main(String[] a) {} }
