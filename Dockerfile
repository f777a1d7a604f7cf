# Headlight for a server: `docker compose up`, or `docker build -t headlight . && docker run -p 8501:8501 headlight`.
# docs/hosting.md says what it promises and what a proxy before it must do.

FROM python:3.12-slim AS build
WORKDIR /source
COPY requirements.txt requirements-processes.txt requirements-dev.txt ./
# TORCH_INDEX: the address of PyTorch's index for processors alone, as its own page "Get started" has it: the image is then a fifth
# of the size. Without it torch comes with what graphics cards need.
ARG TORCH_INDEX=""
RUN python -m venv /app \
 && /app/bin/pip install --no-cache-dir ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$(grep ^torch== requirements.txt)" \
 && /app/bin/pip install --no-cache-dir -r requirements.txt -r requirements-processes.txt
RUN pip install --no-cache-dir "$(grep ^hatchling== requirements-dev.txt)"
COPY . .
RUN python -m hatchling build -t wheel -d /wheel && /app/bin/pip install --no-cache-dir --no-deps /wheel/*.whl

FROM python:3.12-slim
RUN useradd --uid 1000 visitor && install -d -o 1000 -g 1000 /models
COPY --from=build /app /app
USER 1000
# What is downloaded goes to /models; all else that is written, to /tmp. Both are mounts where the root cannot be written to.
ENV PATH=/app/bin:$PATH HOME=/tmp HF_HOME=/models HEADLIGHT_PUBLIC=1 PYTHONDONTWRITEBYTECODE=1 STREAMLIT_SERVER_HEADLESS=true
VOLUME ["/models", "/tmp"]
EXPOSE 8501
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=6 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://localhost:8501/ready', timeout=4)"]
CMD ["headlight", "--host", "0.0.0.0", "--port", "8501", "--no-open"]
