int main() {
  int count = 3;
  count<<<1, 32>>>(1);
  return 0;
}
