int main() {
  cudaGraph_t graph;
  return 0;
}
